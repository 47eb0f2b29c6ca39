import { budgets } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

budgets(speechEndpoint);
