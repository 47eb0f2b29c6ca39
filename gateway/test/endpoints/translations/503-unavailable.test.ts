import { unavailable } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

unavailable(translationsEndpoint);
