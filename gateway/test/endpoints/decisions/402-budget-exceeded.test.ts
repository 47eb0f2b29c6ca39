import { budgets } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

budgets(decisionsEndpoint);
