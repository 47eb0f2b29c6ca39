import { budgets } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

budgets(translationsEndpoint);
