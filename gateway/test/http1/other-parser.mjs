// Node's HTTP/1.1 parser (llhttp). Reads lines with the base64 bytes of one connection, and prints the parsed messages
// as JSON.
import { HTTPParser, methods } from "node:_http_common";
import { createInterface } from "node:readline";

const [onHeaders, onHeadersComplete, onBody, onMessageComplete] = [1, 2, 3, 4];

function read(bytes) {
  const messages = [];
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 16 * 1024);
  // After trailers, the parser reports the next head in several pieces.
  let late = [];
  let lateTarget = "";
  parser[onHeaders] = (fields, target) => {
    late.push(...fields);
    lateTarget += target;
  };
  parser[onHeadersComplete] = (major, minor, fields, method, target) => {
    messages.push({
      start: `${methods[method] ?? method} ${target ?? lateTarget} ${major}.${minor}`,
      fields: (fields ?? late).map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text)),
      body: "",
      whole: false,
    });
    late = [];
    lateTarget = "";
    return 0;
  };
  parser[onBody] = (piece) => {
    messages.at(-1).body += Buffer.from(piece).toString("latin1");
  };
  parser[onMessageComplete] = () => {
    // Trailers: dropped, as ours are.
    late = [];
    lateTarget = "";
    messages.at(-1).whole = true;
  };
  const result = parser.execute(bytes);
  return { messages, refused: result instanceof Error ? (result.code ?? result.message) : null };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(read(Buffer.from(line, "base64")))}\n`);
}
