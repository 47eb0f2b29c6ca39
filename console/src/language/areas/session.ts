import { area } from "../area.tsx";
import { session } from "../en/session.ts";

export const { t, Rich } = area("session", session);
