import { describe, expect, test } from "bun:test";
import { Failure, parseExemptions } from "#core/index.ts";
import { readVideoRequest } from "./validate-video.ts";

const refusal = (body: Readonly<Record<string, unknown>>): [string, string | null] => {
  try {
    readVideoRequest(body);
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param];
    throw thrown;
  }
  throw new Error("the request was accepted");
};

describe("a request for a video", () => {
  test("needs a prompt, material or a vendor's content", () => {
    expect(refusal({})).toEqual(["missing_required_parameter", "prompt"]);
    expect(refusal({ prompt: "  " })).toEqual(["missing_required_parameter", "prompt"]);
    expect(readVideoRequest({ image: "https://x.example/a.png" }).material).toHaveLength(1);
    const content = [{ type: "text", text: "a cat" }];
    expect(readVideoRequest({ content })).toMatchObject({ content, prompt: null, params: { prompt: "a cat" } });
  });

  test.each([
    ["ratio", "16x9"],
    ["ratio", "0:9"],
    ["ratio", 1.5],
    ["resolution", "720"],
    ["resolution", "hd"],
    ["duration", 0],
    ["duration", -2],
    ["duration", 2.5],
    ["duration", "5"],
    ["seed", 1.5],
    ["seed", "7"],
    ["audio", "yes"],
    ["watermark", 1],
    ["return_last_frame", "true"],
    ["metadata", "text"],
    ["metadata", { big: "x".repeat(4_096) }],
    ["content", []],
    ["references", "https://x.example/a.png"],
    ["image", "ftp://x.example/a.png"],
    ["image", "data:text/html,hello"],
    ["image", "https://name:word@x.example/a.png"],
    ["last_frame", 7],
    ["callback_url", "http://127.0.0.1/hook"],
    ["callback_url", "http://[::1]/hook"],
    ["callback_url", "http://[::ffff:10.0.0.1]/hook"],
    ["callback_url", "http://169.254.169.254/latest"],
    ["callback_url", "http://2130706433/"],
    ["callback_url", "https://localhost/hook"],
    ["callback_url", "https://intranet/hook"],
    ["callback_url", "https://name:word@x.example/hook"],
    ["callback_url", "file:///etc/passwd"],
  ])("refuses %s %p", (param, value) => {
    expect(refusal({ prompt: "x", [param]: value })).toEqual(["invalid_request", param]);
  });

  test("reads known fields and collects the others for the vendor", () => {
    const read = readVideoRequest({
      model: "m",
      prompt: "x",
      ratio: "adaptive",
      resolution: "720P",
      duration: -1,
      audio: true,
      watermark: false,
      seed: -5,
      callback_url: "https://x.example/hook?a=1",
      metadata: { a: 1 },
      return_last_frame: true,
      camera_fixed: true,
      service_tier: "flex",
    });
    expect(read.params).toEqual({
      prompt: "x",
      ratio: "adaptive",
      resolution: "720p",
      durationSeconds: -1,
      audio: true,
      watermark: false,
      seed: -5,
    });
    expect(read.vendorFields).toEqual({ camera_fixed: true, service_tier: "flex" });
    expect([read.wantsLastFrame, read.callbackUrl]).toEqual([true, "https://x.example/hook?a=1"]);
  });

  test("accepts a public callback URL, or a private one with an exemption", () => {
    const { rules } = parseExemptions("hooks.internal.example,hooks,10.20.0.0/16,10.1.2.3:8443");
    const taken = [
      "http://93.184.216.34/hook",
      "https://93.184.216.34:8443/hook",
      "https://[2606:2800:220:1:248:1893:25c8:1946]/hook",
      "https://hooks/x",
      "http://10.20.30.40:9000/hook",
      "https://10.1.2.3:8443/hook",
    ];
    for (const url of taken) expect(readVideoRequest({ prompt: "x", callback_url: url }, rules).callbackUrl).toBe(url);
    for (const url of ["https://10.1.2.3/hook", "https://10.21.0.1/hook", "https://127.0.0.1/hook"]) {
      const read = () => readVideoRequest({ prompt: "x", callback_url: url }, rules);
      expect(read).toThrow(expect.objectContaining({ param: "callback_url" }));
    }
  });

  test("takes the type of material from its type, its data URI or its file name", () => {
    const { material } = readVideoRequest({
      prompt: "x",
      image: "https://x.example/first.png",
      last_frame: { url: "data:image/png;base64,AAAA" },
      references: [
        "https://x.example/clip.MP4?sig=1",
        "https://x.example/voice.wav",
        { url: "asset://as_1", type: "audio" },
        { url: "https://x.example/noname", role: "reference_video", type: "video" },
      ],
    });
    expect(material.map(({ role, type }) => [role, type])).toEqual([
      ["first_frame", "image"],
      ["last_frame", "image"],
      ["reference", "video"],
      ["reference", "audio"],
      ["reference", "audio"],
      ["reference", "video"],
    ]);
    expect(refusal({ prompt: "x", references: [{ url: "https://x.example/a", type: "text" }] })).toEqual([
      "invalid_request",
      "references[0].type",
    ]);
    for (const role of ["reference_text", ["reference"], {}]) {
      expect(refusal({ prompt: "x", references: [{ url: "https://x.example/a", role }] })).toEqual([
        "invalid_request",
        "references[0].role",
      ]);
    }
  });
});
