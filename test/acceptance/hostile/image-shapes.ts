import { accepted, either, type HostileShape, MiB, many, refused } from "./hostile-shape.ts";

const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;

function image(model: string, what: string, more: () => string, answers: readonly number[]): HostileShape {
  const body = () => `{"model":"${model}","prompt":"p",${more()}}`;
  return { name: `images with ${model}: ${what}`, path: "/v1/images/generations", body, answers };
}

/** The simulated image upstream answers with text only, which cannot be translated. */
const translated = [...either, 502];

/** Images and assets with images in the request. */
export const imageShapes: readonly HostileShape[] = [
  image("painter", "an image of 60 MiB", () => `"image":${picture(60 * MiB)}`, accepted),
  image("seedream", "an image of 60 MiB", () => `"image":${picture(60 * MiB)}`, accepted),
  image("seedream", "sixty images", () => `"image":[${many(60, picture(MiB))}]`, accepted),
  image("banana", "an image of 60 MiB", () => `"image":${picture(60 * MiB)}`, translated),
  image("banana", "sixty images", () => `"images":[${many(60, `{"image_url":${picture(MiB)}}`)}]`, translated),
  image("painter", "base64 with line breaks", () => `"image":"${`${"A".repeat(76)}\\n`.repeat(700_000)}"`, accepted),
  image("painter", "an image and an asset", () => `"image":[${picture(40 * MiB)},"asset://as_1"]`, [400, 404]),
  ...["painter", "seedream", "banana"].map(
    (model): HostileShape => ({
      name: `image edits with ${model}: an image of 40 MiB in JSON`,
      path: "/v1/images/edits",
      body: () => `{"model":"${model}","prompt":"p","images":[{"image_url":${picture(40 * MiB)}}]}`,
      answers: [...translated, 415],
    }),
  ),
  ...[
    ["30 MiB", 30 * MiB],
    ["almost 1 MiB", 1_000_000],
  ].map(
    ([what, bytes]): HostileShape => ({
      name: `an asset with its image inline, ${what}`,
      path: "/v1/assets",
      body: () => `{"group_id":"ag_1","asset_type":"Image","url":${picture(Number(bytes))}}`,
      answers: [...refused, 404],
    }),
  ),
];
