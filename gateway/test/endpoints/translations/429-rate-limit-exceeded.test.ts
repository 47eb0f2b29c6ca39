import { rates } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

rates(translationsEndpoint);
