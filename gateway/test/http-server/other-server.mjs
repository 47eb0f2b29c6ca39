// Node's HTTP server (llhttp). Reads lines with the base64 bytes of one connection, and prints the requests it handled
// as JSON.
import { createServer } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";

let requests = [];
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (piece) => {
    body += piece;
  });
  request.on("end", () => {
    requests.push({ start: `${request.method} ${request.url}`, body });
    response.end("ok");
  });
  request.on("error", () => {});
});
server.httpAllowHalfOpen = true;
server.on("clientError", (_error, socket) => socket.destroy());
server.listen(0, "127.0.0.1", async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    requests = [];
    await new Promise((resolve) => {
      const socket = connect({ port: server.address().port, host: "127.0.0.1", allowHalfOpen: true });
      socket.on("error", () => {});
      socket.on("end", () => socket.end());
      socket.on("close", resolve);
      socket.resume();
      socket.end(Buffer.from(line, "base64"));
    });
    process.stdout.write(`${JSON.stringify(requests)}\n`);
  }
  server.close();
});
