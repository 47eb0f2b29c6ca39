import { expect, test } from "bun:test";
import { volcengineSignature } from "./volcengine-library.ts";

const keys = {
  accessKeyId: "AKTESTEXAMPLE",
  secretAccessKey: "SecretKeyExample==",
  region: "cn-beijing",
  service: "ark",
};
const request = {
  method: "POST" as const,
  url: "https://open.volcengineapi.com/?Action=CreateAsset&Version=2024-01-01",
  headers: {},
  body: new TextEncoder().encode('{"GroupId":"group-1","URL":"https://example.com/a.png","AssetType":"Image"}'),
};
const now = Date.UTC(2026, 2, 20, 14, 24, 52);
const scope = "AKTESTEXAMPLE/20260320/cn-beijing/ark/request";

test("signs a request like the vendor's npm SDK", () => {
  expect(volcengineSignature(request, keys, now)).toEqual({
    "x-date": "20260320T142452Z",
    "x-content-sha256": "1375ee526952e79d49f5b36d70af7e1906ce30dfcf681242f703be1262bddf5c",
    authorization: `HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-content-sha256;x-date, Signature=cb38ff8caaa7498da4b3a76a89a92df0109983b7d2f26d6d9b1521d968496681`,
  });
});

test("signs additional headers like the vendor's Go SDK", () => {
  const typed = { ...request, headers: { "content-type": "application/json" } };
  expect(volcengineSignature(typed, keys, now)["authorization"]).toBe(
    `HMAC-SHA256 Credential=${scope}, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=31a3db8174f9973608a2edd73f4f9b38225cdb087bb86683e4b533306ad223db`,
  );
});

test("ignores order and escaping of query parameters", () => {
  const signature = (query: string): string | undefined =>
    volcengineSignature({ ...request, url: `https://open.volcengineapi.com/?${query}` }, keys, now)["authorization"];
  expect(signature("Version=2024-01-01&Action=CreateAsset")).toBe(signature("Action=CreateAsset&Version=2024-01-01"));
  expect(signature("a=x+y&b=(1)")).toBe(signature("b=%281%29&a=x%20y"));
  expect(signature("a=1")).not.toBe(signature("a=2"));
});
