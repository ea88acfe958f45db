from segue.cli.main import main

main()
