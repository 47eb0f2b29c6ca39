import { area } from "../area.tsx";
import { media } from "../en/media.ts";

export const { t, Rich } = area("media", media);
