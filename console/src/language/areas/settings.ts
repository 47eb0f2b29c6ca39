import { area } from "../area.tsx";
import { settings } from "../en/settings.ts";

export const { t, Rich } = area("settings", settings);
