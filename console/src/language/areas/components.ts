import { area } from "../area.tsx";
import { components } from "../en/components.ts";

export const { t, Rich } = area("components", components);
