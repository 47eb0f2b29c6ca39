/** A telemetry collector that accepts and discards everything. Prints its port on the first line. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { byteLength } = await request.arrayBuffer();
    counts.requests++;
    counts.bytes += byteLength;
    return new Response(nothing, { headers: { "content-type": "application/x-protobuf" } });
  },
});
const nothing = new Uint8Array(0);
const counts = { requests: 0, bytes: 0 };
console.log(JSON.stringify({ port: server.port }));
