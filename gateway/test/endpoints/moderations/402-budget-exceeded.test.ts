import { budgets } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

budgets(moderationsEndpoint);
