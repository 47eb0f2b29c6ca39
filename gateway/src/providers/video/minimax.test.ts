import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { providerOf } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, bodyOf, draftOf, image, material, stateOf, video } from "../../../test/video-fixture.ts";

describe("MiniMax", () => {
  const done = { task_id: "9", status: "Success", file_id: 205_258_526_306_433, base_resp: { status_code: 0 } };

  test("requests the file of a finished task to get its URL", () => {
    const first = stateOf("minimax", done);
    expect(first.state).toBe("running");
    expect(first.next?.url).toBe("https://api.minimax.io/v1/files/retrieve?file_id=205258526306433");
    const next = adapterOf("minimax").readNext;
    const file = answerOf({ file: { download_url: video }, base_resp: { status_code: 0 } });
    expect(next?.(file, first)).toMatchObject({ state: "succeeded", videoUrl: video, next: null });
    expect(() => next?.(answerOf({ file: {} }), first)).toThrow(Failure);
    expect(() => next?.(answerOf({ base_resp: { status_code: 1002 } }), first)).toThrow(Failure);
  });

  test.each([
    [1002, "same", false],
    [1004, "other", true],
    [1008, "other", true],
    [1026, "never", false],
    [2013, "never", false],
    [2049, "other", true],
    [1041, "same", false],
    [1042, "never", false],
    [2056, "other", false],
    [9999, "same", true],
  ])("reads the error %i inside a 200, with retry %s", (status_code, retry, unhealthy) => {
    const refuse = () => adapterOf("minimax").readCreated(answerOf({ base_resp: { status_code, status_msg: "m" } }));
    // An unknown code may be an error after the task was created.
    const arrival = status_code === 9999 ? "unknown" : "refused";
    expect(refuse).toThrow(expect.objectContaining({ code: "upstream_error", retry, unhealthy, arrival }));
  });

  test("uses API v2 for newer models, and sends the subject reference", () => {
    expect(draftOf("minimax", "MiniMax-H3").url).toBe("https://api.minimax.io/v2/video_generation");
    expect(adapterOf("minimax").poll(providerOf("minimax"), "MiniMax-H3", "9").url).toBe(
      "https://api.minimax.io/v2/query/video_generation/9",
    );
    expect(bodyOf("minimax", "S2V-01", { material: [material("reference", image)] })).toMatchObject({
      subject_reference: [{ type: "character", image: [image] }],
    });
    expect(() => draftOf("minimax", "MiniMax-Hailuo-02", { ratio: "1:1" })).toThrow(Failure);
    const failed = { status: "Fail", base_resp: { status_code: 1027, status_msg: "output sensitive" } };
    expect(stateOf("minimax", failed).error).toEqual({ code: "1027", message: "output sensitive" });
  });
});
