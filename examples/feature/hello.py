"""Says hello."""

import sys


def main() -> None:
    print(f"Hello, {sys.argv[1] if len(sys.argv) > 1 else 'world'}!")


if __name__ == "__main__":
    main()
