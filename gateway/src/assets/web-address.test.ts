import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { addressProblem, fetchProblem, nextAddress } from "./take-in.ts";

test("only plain addresses of the web are asked for", () => {
  for (const url of [
    "https://a.example/x.png",
    "http://a.example",
    "HTTPS://a.example:443/x?y=z#f",
    "http://a.example:80/",
  ]) {
    expect(fetchProblem(url)).toBeNull();
  }
  const refused = [
    "",
    "x.png",
    "//a.example/x",
    "ftp://a.example/x",
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    "demo://simulator/x",
    "gopher://a.example/_x",
    "https://user:secret@a.example/",
    "https://user@a.example/",
    "https://a.example:8443/",
    "http://a.example:6379/",
    "http://a.example:443x/",
    "http://a.example/\r\nhost: b.example",
    "http://a.example/\tx",
    "http://a.example\\@b.example/",
    "http://a.example/ x",
    `https://a.example/${"x".repeat(bounds.urlBytesMax)}`,
  ];
  expect(refused.filter((url) => fetchProblem(url) === null)).toEqual([]);
  expect(addressProblem("https://a.example:8443/")).toBeNull();
});

test("a redirect is judged like the first address, and never steps down from https", () => {
  expect(nextAddress("https://a.example/x/y", "../z")).toEqual({ url: "https://a.example/z" });
  expect(nextAddress("http://a.example/", "https://b.example/")).toEqual({ url: "https://b.example/" });
  for (const location of [
    "http://a.example/",
    "ftp://a.example/",
    "https://a.example:22/",
    "demo://simulator/",
    "/ x",
    "//u:p@b/",
  ]) {
    expect(nextAddress("https://a.example/", location)).toHaveProperty("problem");
  }
});
