import { area } from "../area.tsx";
import { models } from "../en/models.ts";

export const { t, Rich } = area("models", models);
