// Other people's programs that tests put beside the gateway.
import { ensureProgram } from "./debian-program.mjs";

export function ensureJudges() {
  ensureProgram({ names: ["nginx"], debian: "nginx", title: "nginx", tests: "the tests behind a proxy" });
  ensureProgram({ names: ["promtool"], debian: "prometheus", title: "promtool", tests: "the tests of alerts" });
}
