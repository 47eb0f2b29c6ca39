import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Failure, noUsage, Secret } from "#core/index.ts";
import { kindOf, now, options, parsed, providerOf, secretText } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, draftOf, image, inputOf, material, stateOf, video } from "../../../test/video-fixture.ts";

describe("Kling", () => {
  const account = providerOf("kling", { settings: { access_key: "AK1" } });

  test("sends a signed token that is valid for half an hour, never the key", async () => {
    const draft = adapterOf("kling").create({ ...inputOf("kling", "kling-v2-6"), provider: account });
    await kindOf("kling").authorize(draft, options);
    const token = (draft.headers["authorization"] ?? "").replace("Bearer ", "");
    const [header = "", claims = "", signature] = token.split(".");
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(header)).toEqual({ alg: "HS256", typ: "JWT" });
    expect(read(claims)).toEqual({ iss: "AK1", exp: now / 1_000 + 1_800, nbf: now / 1_000 - 5 });
    const expected = createHmac("sha256", secretText).update(`${header}.${claims}`).digest("base64url");
    expect(signature).toBe(expected);
    expect(JSON.stringify(draft.headers)).not.toContain(secretText);
    const plain = { ...draft, provider: providerOf("kling", { secret: new Secret("plain") }), headers: {} };
    await kindOf("kling").authorize(plain, options);
    expect(plain.headers).toEqual({ authorization: "Bearer plain" });
  });

  test("creates and polls each type of task at its own path, and matches a callback to its task", () => {
    const turn = {
      material: [material("first_frame"), material("last_frame", image)],
      resolution: "1080p",
      audio: true,
    };
    const sent = draftOf("kling", "kling-v2-6", turn);
    expect(sent.url).toEndWith("/v1/videos/image2video");
    expect(parsed(sent.body)).toMatchObject({
      image: "iVBORw0KGgo=",
      image_tail: image,
      mode: "pro",
      sound: "on",
    });
    const created = answerOf({ code: 0, data: { task_id: "77" } });
    expect(adapterOf("kling").readCreated(created, sent)).toEqual({ upstreamId: "image2video/77" });
    const callback = answerOf({
      task_id: "77",
      task_status: "succeed",
      task_info: { external_task_id: "vt_1.image2video" },
    });
    expect(adapterOf("kling").readCallback?.(callback.body)).toEqual({ upstreamId: "image2video/77" });
    expect(adapterOf("kling").poll(account, "kling-v2-6", "image2video/77").url).toEndWith("/v1/videos/image2video/77");
    const many = draftOf("kling", "kling-v1-6", { material: [material("reference", image)], ratio: "1:1" });
    expect(parsed(many.body)).toMatchObject({ image_list: [{ image }], aspect_ratio: "1:1" });
    expect(() => draftOf("kling", "kling-v2-6", { ...turn, ratio: "16:9" })).toThrow(Failure);
  });

  test.each([
    [1002, "other", true],
    [1101, "other", true],
    [1103, "other", true],
    [1201, "never", false],
    [1301, "never", false],
    [1303, "same", false],
    [5001, "same", true],
  ])("reads the error %i inside a 200, with retry %s", (code, retry, unhealthy) => {
    const refuse = () => adapterOf("kling").readCreated(answerOf({ code, message: "m" }));
    const arrival = code >= 5_000 ? "unknown" : "refused";
    expect(refuse).toThrow(expect.objectContaining({ code: "upstream_error", retry, unhealthy, arrival }));
    expect(() => stateOf("kling", { code, message: "m" })).toThrow(Failure);
  });

  test("reads the reason for a failure and the length of a finished video", () => {
    const failed = { code: 0, data: { task_status: "failed", task_status_msg: "risk control" } };
    expect(stateOf("kling", failed).error).toEqual({ code: "generation_failed", message: "risk control" });
    const videos = [{ id: "v", url: video, duration: "5.041" }];
    const done = { code: 0, data: { task_status: "succeed", task_result: { videos } } };
    expect(stateOf("kling", done).usage).toEqual({ ...noUsage, videoSeconds: 5 });
  });
});
