import { budgets } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

budgets(translationsEndpoint);
