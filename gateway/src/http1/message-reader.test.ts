import { expect, test } from "bun:test";
import { RequestReader } from "./index.ts";

const head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

function read(...pushed: string[]) {
  const events: string[] = [];
  const reader = new RequestReader(
    { headBytesMax: 1_000, fieldsMax: 10 },
    {
      onHead: () => void events.push("head"),
      onBody: (piece) => void events.push(Buffer.from(piece).toString()),
      onEnd: () => void events.push("end"),
    },
  );
  try {
    for (const text of pushed) reader.push(Buffer.from(text));
  } catch {
    events.push("refused");
  }
  return events;
}

test("chunks that come together are one piece, however short they are", () => {
  const long = "a long one, which is moved at once";
  expect(read(head + chunk("x").repeat(1_000) + chunk(long) + chunk("end"), `${chunk("next")}0\r\n\r\n`)).toEqual([
    "head",
    `${"x".repeat(1_000)}${long}end`,
    "next",
    "end",
  ]);
  expect(read(`${head}5\r\nhe`, `llo\r\n${chunk("you")}3\r\nall`, "\r\n0\r\n\r\n")).toEqual([
    "head",
    "he",
    "lloyouall",
    "end",
  ]);
});

test("passes on the bytes before malformed ones", () => {
  expect(read(`${head}${chunk("one")}${chunk("two")}x`)).toEqual(["head", "onetwo", "refused"]);
});

test("a head that repeats the one before with another content length is read as if it were the first", () => {
  const limits = { headBytesMax: 10_000, fieldsMax: 20 };
  const readBy = (...texts: readonly string[]) => {
    const heads: unknown[] = [];
    const reader = new RequestReader(limits, {
      onHead: ({ method, target, minor, headers, framing, persistent }) =>
        heads.push({ method, target, minor, fields: headers.list(), read: [...headers], framing, persistent }),
      onBody: () => {},
      onEnd: () => {},
    });
    try {
      for (const text of texts) {
        const bytes = Buffer.from(text, "latin1");
        for (let at = reader.push(bytes); at < bytes.length; at += reader.push(bytes.subarray(at))) reader.begin();
        reader.begin();
      }
    } catch (thrown) {
      heads.push(String(thrown));
    }
    return heads.at(-1);
  };
  const lengths = [
    "3",
    "03",
    "000000000000003",
    "0000000000000003",
    "3x",
    "x3",
    "",
    " 3 ",
    "\t3",
    "-3",
    "3, 3",
    "3\r\ncontent-length: 3",
  ];
  const others = ["", "x: content-length\r\n", "connection: content-length\r\n", "Connection: close\r\n"];
  const request = (length: string, other: string) =>
    `POST /v1/x HTTP/1.1\r\nhost: a\r\n${other}Content-Length: ${length}\r\nauthorization: Bearer b\r\n\r\n`;
  for (const other of others) {
    for (const length of lengths) {
      for (const next of others) {
        const second = `${request(length, next)}abc`;
        expect(readBy(`${request("2", other)}ab`, second)).toEqual(readBy(second));
      }
    }
  }
});
