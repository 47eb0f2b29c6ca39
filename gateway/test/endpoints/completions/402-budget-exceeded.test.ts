import { budgets } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

budgets(completionsEndpoint);
