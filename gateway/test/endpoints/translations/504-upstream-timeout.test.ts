import { timeouts } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

timeouts(translationsEndpoint);
