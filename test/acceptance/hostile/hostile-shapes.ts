import { capturedShapes } from "./captured-shapes.ts";
import { changed } from "./changed-shapes.ts";
import { compressed } from "./compressed-shapes.ts";
import { conversations, unreadable } from "./conversation-shapes.ts";
import { forms } from "./form-shapes.ts";
import type { HostileShape } from "./hostile-shape.ts";
import { imageShapes } from "./image-shapes.ts";
import { jsonShapes } from "./json-shapes.ts";
import { otherShapes } from "./other-shapes.ts";
import { playgroundShapes } from "./playground-shapes.ts";
import { small, tiny } from "./small-shapes.ts";
import { videoShapes } from "./video-shapes.ts";

export const hostileShapes: readonly HostileShape[] = [
  ...jsonShapes,
  ...small,
  ...tiny,
  ...changed,
  ...videoShapes,
  ...imageShapes,
  ...capturedShapes,
  ...playgroundShapes,
  ...conversations,
  ...unreadable,
  ...compressed,
  ...forms,
  ...otherShapes,
];
