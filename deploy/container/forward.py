"""forward.py ADDRESS PORT COUNT [AT]: forwards the ports from PORT on of the address AT, which is of loopback unless it is given, to the
same ports of ADDRESS."""
import asyncio
import sys

address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
at = sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1"


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


def forward(port):
    async def serve(reader, writer):
        try:
            other, into = await asyncio.open_connection(address, port)
        except OSError:
            return writer.close()
        await asyncio.gather(pump(reader, into), pump(other, writer))
        into.close()
        writer.close()
    return asyncio.start_server(serve, at, port)


async def main():
    servers = [await forward(port + number) for number in range(count)]
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main())
