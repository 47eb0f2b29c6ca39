import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { videoHouse } from "../video-tasks/video-house.ts";

test("an upload as a form is refused: material is given by its address, in JSON", async () => {
  const house = await startHouse(videoHouse);
  try {
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    for (const path of ["/v1/assets", "/v1/asset-groups"]) {
      const told = await errorOf(await house.post(path, "--b--\r\n", { headers }));
      expect(told).toMatchObject({ status: 415, code: "unsupported_media_type" });
    }
  } finally {
    await house.stop();
  }
});
