import { area } from "../area.tsx";
import { sessions } from "../en/sessions.ts";

export const { t, Rich } = area("sessions", sessions);
