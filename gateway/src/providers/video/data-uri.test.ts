import { expect, test } from "bun:test";
import { readDataUri } from "./material.ts";

test("reads the type and base64 of a data: URI", () => {
  expect(readDataUri("data:image/PNG;name=a;BASE64,AAA=")).toEqual({ contentType: "image/png", base64: "AAA=" });
  expect(readDataUri("data:;base64,AAA=")).toEqual({ contentType: "application/octet-stream", base64: "AAA=" });
  for (const url of ["https://x.example/a,b;base64", "data:text/plain,hello", "data:image/png;base64", ""]) {
    expect(readDataUri(url)).toBeNull();
  }
});
