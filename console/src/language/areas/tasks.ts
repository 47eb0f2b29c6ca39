import { area } from "../area.tsx";
import { tasks } from "../en/tasks.ts";

export const { t, Rich } = area("tasks", tasks);
