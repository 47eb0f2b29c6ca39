/** OpenAI's videos as callers speak them: a second way to ask for a video task, and to be shown one. */
export { frameSize } from "./frame-size.ts";
export { formMembers } from "./video-form.ts";
export { type RemixedVideo, type RenamedMembers, readVideoMembers } from "./video-members.ts";
export { videoObject } from "./video-object.ts";
