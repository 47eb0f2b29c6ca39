import { expect, test } from "bun:test";
import { typeOfAddress } from "./asset-types.ts";

test("an address says by its ending what it most likely leads to", () => {
  expect(typeOfAddress("https://example.com/a.MP4?x=.png")).toBe("Video");
  expect(typeOfAddress("https://example.com/wind.mp3")).toBe("Audio");
  expect(typeOfAddress("https://example.com/hero")).toBe("Image");
  expect(typeOfAddress("half an addr")).toBe("Image");
});
