import { either, type HostileShape, MiB, many, passed, refused } from "./hostile-shape.ts";

const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;

function image(model: string, what: string, more: () => string, answers: readonly number[]): HostileShape {
  const body = () => `{"model":"${model}","prompt":"p",${more()}}`;
  return { name: `images with ${model}: ${what}`, path: "/v1/images/generations", body, answers };
}

/** The upstream of these tests paints nothing while it talks. */
const translated = [...either, 502];

/** Pictures and assets that are asked for with pictures inside. */
export const imageShapes: readonly HostileShape[] = [
  image("painter", "a picture of sixty megabytes", () => `"image":${picture(60 * MiB)}`, passed),
  image("seedream", "a picture of sixty megabytes", () => `"image":${picture(60 * MiB)}`, passed),
  image("seedream", "sixty pictures", () => `"image":[${many(60, picture(MiB))}]`, passed),
  image("banana", "a picture of sixty megabytes", () => `"image":${picture(60 * MiB)}`, translated),
  image("banana", "sixty pictures", () => `"images":[${many(60, `{"image_url":${picture(MiB)}}`)}]`, translated),
  image("painter", "base64 in lines", () => `"image":"${`${"A".repeat(76)}\\n`.repeat(700_000)}"`, passed),
  image("painter", "a picture beside an asset", () => `"image":[${picture(40 * MiB)},"asset://as_1"]`, [400, 404]),
  ...["painter", "seedream", "banana"].map(
    (model): HostileShape => ({
      name: `image edits with ${model}: a picture of forty megabytes in JSON`,
      path: "/v1/images/edits",
      body: () => `{"model":"${model}","prompt":"p","images":[{"image_url":${picture(40 * MiB)}}]}`,
      answers: [...translated, 415],
    }),
  ),
  ...[
    ["thirty megabytes", 30 * MiB],
    ["almost a megabyte", 1_000_000],
  ].map(
    ([what, bytes]): HostileShape => ({
      name: `an asset that is its picture, ${what}`,
      path: "/v1/assets",
      body: () => `{"group_id":"ag_1","asset_type":"Image","url":${picture(Number(bytes))}}`,
      answers: [...refused, 404],
    }),
  ),
];
