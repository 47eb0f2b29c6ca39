import { budgets } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

budgets(speechEndpoint);
