import { area } from "../area.tsx";
import { storedObjects } from "../en/stored-objects.ts";

export const { t } = area("storedObjects", storedObjects);
