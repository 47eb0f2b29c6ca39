import { badRequests } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

badRequests(translationsEndpoint);
