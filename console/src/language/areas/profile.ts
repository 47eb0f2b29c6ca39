import { area } from "../area.tsx";
import { profile } from "../en/profile.ts";

export const { t, Rich } = area("profile", profile);
