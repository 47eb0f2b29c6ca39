import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asFailure, bounds } from "#core/index.ts";
import { ImagesFormReader, readMultipartType } from "#protocols/index.ts";
import { createSpool } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { type ReadForm, readFormBody } from "./spooled-body.ts";

type Outcome = ReadForm | { readonly code: string; readonly param: string | null };

let clock = new FakeClock();
let directory = "";
let names = 0;
let server: ReturnType<typeof Bun.serve>;
let outcome = Promise.withResolvers<Outcome>();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-form-"));
  outcome = Promise.withResolvers<Outcome>();
  clock = new FakeClock();
  const spool = createSpool({ directory, nextName: () => `n${names++}` });
  server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: bounds.requestBodyBytesMax * 2,
    async fetch(request) {
      try {
        const type = readMultipartType(request.headers.get("content-type"), "a form");
        const owner = { key: { id: "key" }, workspace: { id: "ws" } };
        const read = await readFormBody(
          { request, dependencies: { spool, clock } },
          type,
          owner,
          new ImagesFormReader(),
        );
        outcome.resolve(read);
        return new Response("read");
      } catch (thrown) {
        const { code, param, status } = asFailure(thrown);
        outcome.resolve({ code, param });
        return new Response(code, { status });
      }
    },
  });
});
afterEach(async () => {
  await server.stop(true);
  rmSync(directory, { recursive: true, force: true });
});

/** Open files of the body, even deleted ones; on other systems all open files of the process. */
const openFiles = (): number => {
  if (process.platform !== "linux") return readdirSync("/dev/fd").length;
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(directory);
    } catch {
      return false;
    }
  }).length;
};

function edit(size: number): FormData {
  const form = new FormData();
  form.append("image[]", new File([new Uint8Array(size).fill(7)], "a.png", { type: "image/png" }));
  form.append("prompt", "make it green");
  form.append("model", "gpt-image-1");
  return form;
}

async function post(body: FormData | Uint8Array, headers: Record<string, string> = {}): Promise<Outcome> {
  const response = await fetch(server.url, { method: "POST", body, headers });
  await response.text();
  return outcome.promise;
}

/** Sends a head and the beginning of a body, and leaves the connection open. */
function begin(head: string, body: string) {
  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\n${head}\r\n\r\n${body}`);
  return socket;
}

const whole = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--';

describe("a form in the spool", () => {
  test("is read and stored, and forwarded with the upstream's model name", async () => {
    for (const size of [100_000, 3_000_000]) {
      outcome = Promise.withResolvers();
      const read = await post(edit(size));
      if (!("form" in read)) throw new Error(read.code);
      expect(read.facts).toMatchObject({ model: "gpt-image-1", images: 1, stream: false });
      const sent = await new Response(read.form.open("upstream-model"), {
        headers: { "content-type": read.form.contentType },
      }).formData();
      expect(sent.get("model")).toBe("upstream-model");
      expect(sent.get("prompt")).toBe("make it green");
      const file = sent.get("image[]");
      expect(file instanceof File && file.size).toBe(size);
      read.form.discard();
    }
  });

  test("is read without a content length", async () => {
    const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    const prompt = '--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\np\r\n';
    const socket = begin("transfer-encoding: chunked", chunk(prompt) + chunk(whole.slice(0, 20)));
    socket.write(`${chunk(whole.slice(20))}0\r\n\r\n`);
    const read = await outcome.promise;
    expect("facts" in read && read.facts.model).toBe("m");
    socket.destroy();
  });
});

describe("a refused form leaves no file:", () => {
  test.each([
    ["a length beyond the bound", `content-length: ${bounds.requestBodyBytesMax + 1}`, "", "request_too_large"],
    ["a content encoding", "content-length: 5\r\ncontent-encoding: gzip", "abcde", "unsupported_media_type"],
    ["no form in it", "content-length: 5", "abcde", "invalid_request"],
    ["no prompt", `content-length: ${whole.length}`, whole, "missing_required_parameter"],
    ["an end too early", `content-length: ${whole.length - 2}`, whole.slice(0, -2), "invalid_request"],
  ])("%s", async (_, head, body, code) => {
    const before = openFiles();
    const socket = begin(head, body);
    expect(await outcome.promise).toMatchObject({ code });
    socket.destroy();
    await settled(before);
  });

  test("more bytes than the bound, without a content length", async () => {
    const before = openFiles();
    const socket = begin("transfer-encoding: chunked", "");
    const open = '--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n';
    socket.write(`${open.length.toString(16)}\r\n${open}\r\n`);
    const piece = Buffer.alloc(1024 * 1024, 7);
    const more = (): void => {
      while (!socket.destroyed && socket.writable) {
        socket.write(`${piece.length.toString(16)}\r\n`);
        socket.write(piece);
        if (!socket.write("\r\n")) return void socket.once("drain", more);
      }
    };
    more();
    expect(await outcome.promise).toMatchObject({ code: "request_too_large" });
    socket.destroy();
    await settled(before);
  });

  test("a caller that disconnects", async () => {
    const before = openFiles();
    const socket = begin("content-length: 3000000", "");
    const open = '--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n';
    socket.write(open + "x".repeat(2_000_000));
    await until(() => openFiles() > before);
    socket.destroy();
    expect(await outcome.promise).toMatchObject({ code: "client_closed" });
    await settled(before);
  });

  test("a caller that is too slow", async () => {
    const before = openFiles();
    const socket = begin("content-length: 3000000", whole.slice(0, 30));
    await until(() => clock.pending > 0);
    clock.advance(bounds.requestBodyTotalMs + 1_000);
    expect(await outcome.promise).toMatchObject({ code: "request_timeout" });
    socket.destroy();
    await settled(before);
  });
});

/** Files are closed off the event loop. */
async function settled(count: number): Promise<void> {
  await until(() => openFiles() <= count);
}
