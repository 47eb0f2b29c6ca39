import { expect, test } from "bun:test";
import { typeOfAddress } from "./asset-types.ts";

test("the asset type is guessed from the ending of the URL", () => {
  expect(typeOfAddress("https://example.com/a.MP4?x=.png")).toBe("Video");
  expect(typeOfAddress("https://example.com/wind.mp3")).toBe("Audio");
  expect(typeOfAddress("https://example.com/hero")).toBe("Image");
  expect(typeOfAddress("half an addr")).toBe("Image");
});
