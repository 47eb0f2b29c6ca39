import { area } from "../area.tsx";
import { assets } from "../en/assets.ts";

export const { t, Rich } = area("assets", assets);
