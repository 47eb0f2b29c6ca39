import { budgets } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

budgets(moderationsEndpoint);
