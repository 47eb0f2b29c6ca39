import { describe, expect, test } from "bun:test";
import { Failure, noUsage } from "#core/index.ts";
import { providerOf } from "../../../test/provider-fixture.ts";
import {
  adapterOf,
  answerOf,
  bodyOf,
  draftOf,
  image,
  material,
  stateOf,
  textOfBody,
} from "../../../test/video-fixture.ts";

describe("Sora", () => {
  test("sends inline pictures as files and other pictures as URLs", async () => {
    const draft = draftOf("openai", "sora-2", { material: [material("first_frame")] });
    const form = await new Response(draft.body, { headers: draft.headers }).formData();
    const file = form.get("input_reference");
    expect(file).toBeInstanceOf(File);
    if (!(file instanceof File)) return;
    expect(file.type).toBe("image/png");
    expect(Buffer.from(await file.arrayBuffer()).toString("base64")).toBe("iVBORw0KGgo=");
    expect(form.get("prompt")).toBe("a paper boat");
    expect(bodyOf("openai", "sora-2", { material: [material("first_frame", image)] })).toMatchObject({
      input_reference: { image_url: image },
    });
  });

  test("escapes values so that they cannot add form fields", async () => {
    const prompt = 'x\r\n--video-vt_1\r\ncontent-disposition: form-data; name="model"\r\n\r\nsora-2-pro';
    const draft = draftOf("openai", "sora-2", { prompt, vendorFields: { 'a"\r\nb': "c" } });
    const form = await new Response(draft.body, { headers: draft.headers }).formData();
    expect([form.getAll("model"), form.getAll("prompt")]).toEqual([["sora-2"], [prompt]]);
  });

  test("downloads with the account's credential, and reads expiry and billed seconds", () => {
    const seen = stateOf("openai", { id: "video_1", status: "completed", seconds: "8", expires_at: 1_800_000_000 });
    expect(seen).toMatchObject({
      videoUrl: "https://api.openai.com/v1/videos/video_1/content",
      expiresAt: 1_800_000_000,
      usage: { ...noUsage, videoSeconds: 8 },
    });
    const capitals = { ...providerOf("openai"), baseUrl: "HTTPS://API.openai.com/v1" };
    const done = adapterOf("openai").readState(answerOf({ id: "video_1", status: "completed" }), capitals);
    expect(done).toMatchObject({ state: "succeeded", videoUrl: "HTTPS://API.openai.com/v1/videos/video_1/content" });
    const provider = providerOf("openai");
    expect(adapterOf("openai").content?.(provider, seen.videoUrl ?? "")).toMatchObject({ method: "GET", body: null });
    expect(() => adapterOf("openai").content?.(provider, "https://api.openai.com/v1/models")).toThrow(Failure);
    expect(adapterOf("openai").cancel).toBeUndefined();
  });

  test("lists tasks with their prompts", () => {
    const data = [{ id: "video_1", model: "sora-2", prompt: "a paper boat", created_at: 5 }];
    expect(adapterOf("openai").readList?.(answerOf({ object: "list", data }))).toEqual([
      { upstreamId: "video_1", taskId: null, upstreamModel: "sora-2", prompt: "a paper boat", createdAt: 5_000 },
    ]);
    expect(() => adapterOf("openai").readList?.(answerOf("{}"))).toThrow(Failure);
  });

  test("rejects unsupported ratios", () => {
    expect(() => draftOf("openai", "sora-2", { ratio: "adaptive" })).toThrow(Failure);
    expect(() => draftOf("openai", "sora-2", { material: [material("last_frame")] })).toThrow(Failure);
    expect(textOfBody(draftOf("openai", "sora-2-pro", { ratio: "4:7", resolution: "1024p" }).body)).toContain(
      "1024x1792",
    );
  });
});
