import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

test("an upload as a form is refused: material is given by its address, in JSON", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    for (const path of ["/v1/assets", "/v1/asset-groups"]) {
      const told = await errorOf(await gateway.post(path, "--b--\r\n", { headers }));
      expect(told).toMatchObject({ status: 415, code: "unsupported_media_type" });
    }
  } finally {
    await gateway.stop();
  }
});
