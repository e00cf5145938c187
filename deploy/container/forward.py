"""forward.py ADDRESS PORT COUNT: forwards the ports from PORT on of the loopback address to the same ports of ADDRESS."""
import asyncio
import sys

address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


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
    return asyncio.start_server(serve, "127.0.0.1", port)


async def main():
    servers = [await forward(port + number) for number in range(count)]
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main())
