//! What clients on the network may ask, as an OpenAPI document.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{Answer, Order};

/// The keys of a class, in the words of plans. What they are is said by the schema of plans.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(super) struct ClassKeys {}

/// The description of `POST /reservations` in OpenAPI 3.1, with the schemas of orders and answers.
pub fn openapi() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let order = generator.subschema_for::<Order>();
    let answer = generator.subschema_for::<Answer>();
    let mut schemas = generator.take_definitions(true);
    schemas.values_mut().for_each(enumerate);
    let answered = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": answer } },
        })
    };
    let said = |description: &str| {
        json!({
            "description": description,
            "content": { "text/plain": { "schema": { "type": "string" } } },
        })
    };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Laxity reservations",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Reservations on a link: what is granted is proved, and kept on disk.",
        },
        "security": [{ "token": [] }, { "certificate": [] }],
        "paths": {
            "/reservations": {
                "post": {
                    "operationId": "order",
                    "summary": "Give an order",
                    "requestBody": {
                        "required": true,
                        "content": { "application/json": { "schema": order } },
                    },
                    "responses": {
                        "200": answered("It is done, granted or listed."),
                        "400": answered("It makes no sense. `message` says what of it."),
                        "401": said("There is no token or certificate, or nobody has it."),
                        "404": answered("There is no reservation of this name."),
                        "409": answered("There is one of this name, or it does not fit: `offer` does."),
                        "429": answered("There are too many orders or reservations."),
                        "503": answered("Reservations cannot be taken now."),
                    },
                },
            },
        },
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "certificate": { "type": "mutualTLS" },
            },
        },
    })
}

/// Makes a choice of words an enumeration, which generators of clients know as one type.
fn enumerate(schema: &mut Value) {
    let word = |choice: &Value| choice.get("const").cloned();
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let Some(words) = choices.and_then(|all| all.iter().map(word).collect::<Option<Vec<_>>>())
    else {
        return;
    };
    let about = schema.get("description").cloned();
    *schema = json!({ "type": "string", "enum": words, "description": about });
}
