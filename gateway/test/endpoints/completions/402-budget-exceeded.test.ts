import { budgets } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

budgets(completionsEndpoint);
