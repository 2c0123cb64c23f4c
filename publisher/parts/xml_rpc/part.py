"""What the engine knows of XML-RPC."""

from publisher.part import Part

# A picture in base64 within a call, which is parsed before its token is seen.
CALL_BYTES = 16 * 1024 * 1024

PART = Part(
    name="xml_rpc",
    reserved=("xmlrpc",),
    blueprints=("calls:blueprint",),
    programs=("xmlrpc",),
    body_limits=(("/xmlrpc", CALL_BYTES),),
    places={
        "head": "places:in_head",
        "program-addresses": "places:address",
        "program-words": "places:words",
    },
)
