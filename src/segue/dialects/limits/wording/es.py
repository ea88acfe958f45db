"""Spanish."""

from __future__ import annotations

from segue.dialects.limits.wording.language import Language

SPANISH = Language(
    "es",
    letters="[áéíóúñ¿¡]",
    what="l[ií]mites?|cuotas?|cr[eé]ditos?|saldo|mensajes|uso",
    over="alcanzad[oa]s?|excedid[oa]s?|superad[oa]s?|agotad[oa]s?|agotaste|alcanzaste|quedaste sin"
    "|quedado sin|insuficientes?|uso se restablece",
    pieces={
        "rate_limit": r"\bdemasiadas (?:solicitudes|peticiones)\b",
        "overloaded": r"\b(?:servidor(?:es)?|servicio|modelo) (?:está |están )?(?:sobrecargad"
        r"|saturad)",
        "auth": r"\b(?:sesión|token|clave) (?:ha )?(?:caducad|expirad)",
        "network": r"\bconexión (?:rechazada|perdida|fallida)",
    },
    windows={
        "weekly_limit": r"\bsemanal(?:es)?\b|\bsemana\b",
        "session_limit": r"\bsesión\b|\b\d+ horas\b(?= de uso)",
        "daily_quota": "diari|\\bhoy\\b",
        "billing": "mensual",
        "rate_limit": "por minuto|peticiones|solicitudes",
    },
    never=(
        r"\b(?:si|cuando|al alcanzar|una vez|hasta que|porque|podrías?|puede[ns]?|casi|pronto"
        r"|ya se ha|alcanzarás)\b"
        r"|\bse (?:alcanzó|agotó|agotaron|superó|había)|\bhabía\b|\bsuperaban?\b|\bsuperé\b"
        r"|\by ya\b"
        r"|\b\d{1,2} ?% (?:usado|restante)"
    ),
    report=(
        r"\b(?:prueba|pruebas|diálogo|función|aviso|registro|panel|página|título|esquema|línea|líneas|caracteres|memoria"
        r"|disco|servidor|datos|estados|corregido|listo|terminado|añadí|detuve|simulé|recomiendo|propongo|migración"
        r"|captura|pantalla|resumen|entorno)\b|[«»“”\"]|☐|☒|☑|\[[ x✓~]\]"
    ),
    beside=(
        r"has|ha|han|tu|tus|su|sus|el|la|los|las|un|una|de|del|a|al|en|para|por|con|y|o|se|te|este|esta|estos|diari\w*"
        r"|restablec\w*|reinici\w*|renuev\w*|vuelv\w*|volver|intent\w*|reintent\w*|esper\w*|podrás|usar|más|tarde|nuevo"
        r"|mañana|hoy|hora\w*|minuto\w*|segundo\w*|día\w*|semana\w*|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
        r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|antes|después|agente"
        r"|codex|agrega|mejora|seguir|usando|pro|plan|cuenta|modelo\w*|suscripción|actualiz\w*|error|disponib\w*|está|están|es|son|que|hasta|siguiente|gratuit\w*"
    ),
)
