import { unavailable } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

unavailable(translationsEndpoint);
