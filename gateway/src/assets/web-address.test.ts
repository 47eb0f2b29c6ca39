import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { fetchProblem, redirectUrl, urlProblem } from "./fetch-asset.ts";

test("accepts only http and https URLs without credentials", () => {
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
  expect(urlProblem("https://a.example:8443/")).toBeNull();
});

test("checks a redirect like the first URL and refuses https to http", () => {
  expect(redirectUrl("https://a.example/x/y", "../z")).toEqual({ url: "https://a.example/z" });
  expect(redirectUrl("http://a.example/", "https://b.example/")).toEqual({ url: "https://b.example/" });
  for (const location of [
    "http://a.example/",
    "ftp://a.example/",
    "https://a.example:22/",
    "demo://simulator/",
    "/ x",
    "//u:p@b/",
  ]) {
    expect(redirectUrl("https://a.example/", location)).toHaveProperty("problem");
  }
});
