/** Maximum size of a server-sent event. */
const eventCharsMax = 1_000_000;

/**
 * The `data` of each server-sent event, in order. Pieces may be cut anywhere, line ends may be LF or CRLF; comments and other fields are
 * ignored. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data: string[] = [];
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      rest += piece.value;
      if (rest.length > eventCharsMax) throw new Error("An event of the answer is too large.");
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line.startsWith("data:")) data.push(line.slice(line.charAt(5) === " " ? 6 : 5));
        if (line !== "" || data.length === 0) continue;
        yield data.join("\n");
        data = [];
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
