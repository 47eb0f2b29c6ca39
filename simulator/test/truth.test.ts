import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/until.ts";
import { createSimulator, type RunningSimulator, serveSimulator, type TruthRecord } from "../src/index.ts";
import { dechunk, rawCall } from "./raw-call.ts";
import { sha256 } from "./sdk-call.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-simulator-"));
const truthFile = join(folder, "truth.jsonl");
let running: RunningSimulator;

beforeAll(() => {
  running = serveSimulator({ truthFile });
});
afterAll(() => {
  running.stop();
  rmSync(folder, { recursive: true });
});

const body = { model: "demo", messages: [{ role: "user", content: "one two" }] };

function control(method: string, path: string, content?: unknown): Promise<Response> {
  const payload = content === undefined ? {} : { body: JSON.stringify(content) };
  return fetch(`http://127.0.0.1:${running.port}/__sim${path}`, { method, ...payload });
}

describe("the truth", () => {
  test("records each attempt by its id, counts hits, and never stores a credential", async () => {
    const headers = { "x-attempt-id": "att_1", authorization: "Bearer sk-secret-9876", "x-extra": "kept" };
    await rawCall(running.port, { body, headers });
    await rawCall(running.port, { body, headers });
    const answer = await (await control("GET", "/truth?attempt_id=att_1")).text();
    const data: TruthRecord[] = JSON.parse(answer).data;
    expect(data.map((record) => record.hits)).toEqual([1, 2]);
    expect(data[0]).toMatchObject({
      authorization_last4: "9876",
      prompt_tokens: 2,
      request_headers: { "x-extra": "kept" },
    });
    expect(answer).not.toContain("sk-secret");
    expect(data[0]?.body_sha256).toBe(Bun.CryptoHasher.hash("sha256", JSON.stringify(body), "hex"));
  });

  test("is in the file once it is listed, with one line for each hit", async () => {
    await rawCall(running.port, { body, headers: { "x-attempt-id": "att_file" } });
    await control("GET", "/truth?limit=0");
    const lines = readFileSync(truthFile, "utf8").trim().split("\n");
    const records: TruthRecord[] = lines.map((line) => JSON.parse(line));
    expect(records.filter((record) => record.attempt_id === "att_file").length).toBe(1);
    expect(records.at(-1)).toMatchObject({ attempt_id: "att_file", terminal_sent: true, status: 200 });
  });

  test("has digests of everything received and sent, and texts up to 64 KB", async () => {
    const large = { ...body, messages: [{ role: "user", content: "word ".repeat(20_000) }], stream: true };
    const sent = JSON.stringify(large);
    const script = JSON.stringify({ tokens: 2_000 });
    const headers = { "x-attempt-id": "att_bytes", "x-sim-script": script };
    const answer = dechunk((await rawCall(running.port, { body: large, headers })).body);
    const record = running.simulator.truth.find("att_bytes");
    expect(record).toMatchObject({
      dialect: "openai-chat",
      query: "",
      body_sha256: sha256(sent),
      body_text: sent.slice(0, 65_536),
      reply_sha256: sha256(answer),
      reply_text: answer.slice(0, 65_536),
    });
    const slim = await (await control("GET", "/truth?attempt_id=att_bytes&texts=0")).text();
    expect(slim).not.toContain("word word");
  });

  test("stores bodies if the script asks for it", async () => {
    const marked = {
      ...body,
      messages: [{ role: "user", content: 'hi [[sim {"keep_received":true,"keep_sent":true}]]' }],
    };
    const answer = await rawCall(running.port, { body: marked, headers: { "x-attempt-id": "att_kept" } });
    const record = running.simulator.truth.find("att_kept");
    expect(record?.received_body).toBe(JSON.stringify(marked));
    expect(record?.sent_body).toBe(answer.body);
    expect(record?.prompt_tokens).toBe(1);
  });

  test("is bounded: the oldest records are removed, the totals remain", async () => {
    const small = createSimulator({ truthRecordsMax: 3 });
    for (let index = 0; index < 5; index += 1) {
      const headers = { "x-attempt-id": `a${index}` };
      await small.fetch(
        new Request("http://x/v1/chat/completions", { method: "POST", headers, body: JSON.stringify(body) }),
      );
    }
    // fetch resolves with the answer, shortly before the record is closed.
    await until(() => small.truth.list().in_flight === 0);
    const state = small.truth.list();
    expect(state).toMatchObject({ total: 5, dropped: 2 });
    expect(state.data.map((record) => record.attempt_id)).toEqual(["a2", "a3", "a4"]);
  });
});

describe("a preset", () => {
  test("applies to the next n requests of a model, and can be cleared", async () => {
    await control("POST", "/script", { script: { status: 503 }, count: 2, model: "demo" });
    const other = await rawCall(running.port, { body: { ...body, model: "other" } });
    expect(other.head).toContain("200 OK");
    const heads = [];
    for (let index = 0; index < 3; index += 1) heads.push((await rawCall(running.port, { body })).head.slice(9, 12));
    expect(heads).toEqual(["503", "503", "200"]);

    await control("POST", "/script", { script: { status: 500 } });
    expect((await rawCall(running.port, { body })).head).toContain("500");
    await control("DELETE", "/script");
    expect((await rawCall(running.port, { body })).head).toContain("200 OK");
  });

  test("with a misspelled field is refused by its name", async () => {
    const answer = await control("POST", "/script", { script: { statsu: 500 } });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("statsu");
  });
});

describe("a script in a request", () => {
  test("can precede the model's name, which the answer returns without it", async () => {
    const failing = await rawCall(running.port, { body: { ...body, model: 'sim{"status":500}gpt' } });
    expect(failing.head).toContain("500");
    const fine = await rawCall(running.port, { body: { ...body, model: 'sim{"tokens":1}gpt' } });
    expect(JSON.parse(fine.body)).toMatchObject({ model: "gpt", usage: { completion_tokens: 1 } });
  });

  test("is plain text if obeysRequests is false", async () => {
    const simulator = createSimulator({ obeysRequests: false });
    const messages = [{ role: "user", content: '[[sim {"status":500}]]' }];
    const request = { method: "POST", body: JSON.stringify({ model: "demo", messages }) };
    expect((await simulator.fetch(new Request("http://x/v1/chat/completions", request))).status).toBe(200);
  });
});

describe("the HTTP listener", () => {
  test("serves many requests on one connection, pipelined, chunked and two megabytes large", async () => {
    const large = JSON.stringify({ ...body, messages: [{ role: "user", content: "word ".repeat(400_000) }] });
    const part = Buffer.from(large);
    const halfway = part.length >> 1;
    const chunk = (bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
    const chunkedHead = "POST /v1/chat/completions HTTP/1.1\r\nhost: s\r\ntransfer-encoding: chunked\r\n\r\n";
    const sizedHead = `POST /v1/chat/completions HTTP/1.1\r\nhost: s\r\nconnection: close\r\ncontent-length: ${part.length}\r\n\r\n`;
    const get = Buffer.from("GET /v1/models HTTP/1.1\r\nhost: s\r\n\r\n");
    const chunked = [chunk(part.subarray(0, halfway)), chunk(part.subarray(halfway)), Buffer.from("0\r\n\r\n")];
    const bytes = Buffer.concat([get, Buffer.from(chunkedHead), ...chunked, Buffer.from(sizedHead), part]);
    const answer = await rawCall(running.port, { bytes });
    expect(answer.text.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(3);
    expect(answer.text.match(/"prompt_tokens":400000/g)?.length).toBe(2);
  });

  test("answers invalid HTTP with 400 and closes the connection", async () => {
    const answer = await rawCall(running.port, { bytes: Buffer.from("nonsense\r\n\r\n") });
    expect(answer.head).toContain("400 Bad Request");
    expect(answer.ending).toBe("fin");
  });
});
