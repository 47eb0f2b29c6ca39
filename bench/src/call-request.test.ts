import { expect, test } from "bun:test";
import { type Caller, callRequest, imageModel } from "./call-request.ts";

const callers: readonly Caller[] = ["chat", "messages", "responses", "edit"];

test("creates a body of exactly the requested size in every dialect", () => {
  for (const caller of callers) {
    for (const bodyBytes of [1024, 100_000]) expect(bodyOf(caller, bodyBytes).body).toHaveLength(bodyBytes);
  }
});

test("encodes the pace of a stream in the message text, which translations keep", () => {
  for (const caller of ["chat", "messages", "responses"] as const) {
    const { body } = bodyOf(caller, 1024, { gapMs: 50, eventsMax: 7, endsAtMs: 123 });
    const { stream, messages, input } = JSON.parse(body.toString("latin1"));
    expect(stream).toBe(true);
    expect((messages ?? input).at(-1).content).toStartWith("gap_ms=50 events=7 ends_at_ms=123 ");
  }
});

test("sends additional header lines and the delay to the upstream", () => {
  const request = callRequest({ port: 80, key: "none", bodyBytes: 1024, headers: ["x-one: 1"], delayMs: 20 });
  const [head = "", body = ""] = request.toString("latin1").split("\r\n\r\n");
  expect(head.split("\r\n")).toContain("x-one: 1");
  expect(JSON.parse(body).messages.at(-1).content).toStartWith("delay_ms=20 ");
  expect(body).toHaveLength(1024);
});

test("a form ends with its model and can be parsed", async () => {
  const { head, body } = bodyOf("edit", 50_000);
  const type = /content-type: (.+)/.exec(head)?.[1] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  expect([...form.keys()]).toEqual(["prompt", "image[]", "model"]);
  expect(form.get("model")).toBe(imageModel);
  expect(form.get("image[]")).toBeInstanceOf(Blob);
});

function bodyOf(caller: Caller, bodyBytes: number, stream?: { gapMs: number; eventsMax: number; endsAtMs: number }) {
  const request = callRequest({
    port: 80,
    key: "none",
    caller,
    bodyBytes,
    ...(stream === undefined ? {} : { stream }),
  });
  const end = request.indexOf("\r\n\r\n");
  return { head: request.toString("latin1", 0, end), body: request.subarray(end + 4) };
}
